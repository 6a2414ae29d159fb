set(sources rows.cpp claims.cpp in_use_protection.cpp storage_classes.cpp)
set(tests storage_test.cpp)
