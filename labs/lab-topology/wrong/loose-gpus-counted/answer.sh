sed 's/.*\(rack=.*\)/\1/' racks.txt | sort -u | awk '{ print $1, "pods=8" }' > loose.txt
