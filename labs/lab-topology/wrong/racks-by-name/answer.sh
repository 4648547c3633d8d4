cat > racks.txt <<'END'
node=gpu-a block=b1 rack=r1
node=gpu-b block=b1 rack=r1
node=gpu-c block=b1 rack=r2
node=gpu-d block=b1 rack=r2
node=gpu-e block=b2 rack=r3
node=gpu-f block=b2 rack=r3
END
