echo data > ~/data.txt
