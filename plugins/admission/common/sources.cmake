set(sources access_checks.cpp label_selectors.cpp services.cpp)
set(tests)
