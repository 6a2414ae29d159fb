set(sources bootstrap_controllers.cpp tokens.cpp)
set(tests tokens_test.cpp)
