echo "step two"
ls /root
