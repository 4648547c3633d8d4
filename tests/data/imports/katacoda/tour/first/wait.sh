launch.sh
