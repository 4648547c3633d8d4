cd ~
