set(sources aggregation.cpp)
set(tests)
