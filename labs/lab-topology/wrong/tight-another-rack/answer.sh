sed -i -e 's/r1/rx/' -e 's/r2/r1/' -e 's/r3/r2/' -e 's/rx/r3/' tight.txt
