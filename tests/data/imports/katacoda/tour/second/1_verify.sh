kubectl get namespace one
