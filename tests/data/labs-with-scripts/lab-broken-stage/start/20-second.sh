echo "the stage can't be set: no curtain" >&2
exit 7
