set(sources approver.cpp authority.cpp cleaner.cpp request.cpp signer.cpp)
set(tests request_test.cpp)
