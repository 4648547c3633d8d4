kubectl run hello --image=busybox
