echo x > done.txt
