set(sources rows.cpp always.cpp)
set(tests)
