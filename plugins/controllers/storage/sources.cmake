set(sources migrated_definition.cpp version_migrator.cpp)
set(tests)
