kubectl get namespace two
