"""From a `ClusterSpec` to a ready cluster and back to nothing; knows no labs, checks or learners."""
