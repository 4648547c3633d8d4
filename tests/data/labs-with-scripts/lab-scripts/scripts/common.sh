fail() { echo "$*"; exit 1; }
