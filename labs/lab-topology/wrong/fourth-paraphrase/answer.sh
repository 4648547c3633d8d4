echo 'there is no rack left for the fourth Job' > fourth.txt
