set(sources services.cpp)
set(tests)
