while [ ! -f /tmp/finished ]; do sleep 1; done
echo "The stage is set."
