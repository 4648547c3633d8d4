echo node=gpu-z > where.txt
