docker ps
kubectl create configmap step1 --from-literal=here=yes
