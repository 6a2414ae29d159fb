set(sources status.cpp)
set(tests)
