if grep -q blue ~/notes/app.conf; then
  echo "done"
fi
