set(sources legacy_token_cleaner.cpp root_ca_publisher.cpp service_accounts.cpp token_secrets.cpp)
set(tests)
