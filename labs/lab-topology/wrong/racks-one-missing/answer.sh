sed -i '$d' racks.txt
