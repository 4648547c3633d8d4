kubectl create namespace tour
