test -f /tmp/finished
test "$(cat ~/given.txt)" = "from files/"
