module backplane.dev/bench/webhooks

go 1.26.0
