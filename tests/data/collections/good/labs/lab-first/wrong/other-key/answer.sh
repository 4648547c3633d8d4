kubectl create configmap note --from-literal=sum=42
