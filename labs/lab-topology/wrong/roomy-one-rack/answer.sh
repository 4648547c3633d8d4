sed -n '1s/pods=.*/pods=10/p' roomy.txt > counted
mv counted roomy.txt
