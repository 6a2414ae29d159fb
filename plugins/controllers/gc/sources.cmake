set(sources calls.cpp collector.cpp examination.cpp facts.cpp graph.cpp graph_index.cpp monitor.cpp name_pool.cpp text_pool.cpp types.cpp uid.cpp)
set(tests facts_test.cpp graph_test.cpp name_pool_test.cpp)
