set(sources protection.cpp)
set(tests)
