set(sources rows.cpp request_subject.cpp signer_check.cpp signing_requests.cpp subject_restriction.cpp trust_bundles.cpp)
set(tests certificates_test.cpp)
