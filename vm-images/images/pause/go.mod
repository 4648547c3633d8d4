module batchlab.dev/images/pause

go 1.26.0
