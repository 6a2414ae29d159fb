set(sources rows.cpp)
set(tests)
