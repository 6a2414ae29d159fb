set(sources pod_collector.cpp ttl_after_finished.cpp)
set(tests)
