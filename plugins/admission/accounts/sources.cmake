set(sources rows.cpp account_reader.cpp mirror_pods.cpp mountable_secrets.cpp pod_references.cpp service_account.cpp token_volume.cpp)
set(tests service_account_test.cpp)
