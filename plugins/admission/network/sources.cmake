set(sources rows.cpp default_ingress_class.cpp external_ips.cpp)
set(tests network_test.cpp)
