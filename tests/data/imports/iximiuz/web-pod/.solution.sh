kubectl -n shop run web --image=nginx
echo nginx > verify-image.txt
echo blue > verify-answer.txt
