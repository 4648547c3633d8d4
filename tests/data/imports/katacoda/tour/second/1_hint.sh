echo "namespaces are made with kubectl create"
