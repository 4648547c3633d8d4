echo 'topology racks has room for only 8 of 10 pods' > wide.txt
