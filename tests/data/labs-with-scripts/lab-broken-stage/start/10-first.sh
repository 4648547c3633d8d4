echo "the first one is well"
