kubectl create configmap note --from-literal=answer=42
