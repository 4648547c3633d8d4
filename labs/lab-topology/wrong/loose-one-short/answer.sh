awk -F= 'NR == 1 { print $1 "=" $2 "=" $3 - 1; next } { print }' loose.txt > counted
mv counted loose.txt
