kubectl create namespace shop
echo shop > name.txt
