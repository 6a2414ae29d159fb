set(sources context.cpp events.cpp leadership.cpp lease_clock.cpp objects.cpp runner.cpp selection.cpp term.cpp)
set(tests selection_test.cpp lease_clock_test.cpp)
