# The targets format, format-check and tidy. They work on the files that git knows.

find_program(PHX_CLANG_FORMAT NAMES clang-format-14 clang-format)
find_program(PHX_RUN_CLANG_TIDY NAMES run-clang-tidy-14 run-clang-tidy)

set(list_sources "git ls-files -z '*.h' '*.cc'")
if(PHX_CLANG_FORMAT)
  add_custom_target(format
    COMMAND sh -c "${list_sources} | xargs -0 -r ${PHX_CLANG_FORMAT} -i"
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM)
  add_custom_target(format-check
    COMMAND sh -c "${list_sources} | xargs -0 -r ${PHX_CLANG_FORMAT} --dry-run --Werror"
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM)
endif()
if(PHX_RUN_CLANG_TIDY)
  # The compilation database knows the generated sources too; they are not ours to tidy. It may be of
  # g++, which needs no word about the coroutines of Asio; see runtime/tcp and PhoenixTarget.cmake.
  add_custom_target(tidy
    COMMAND ${PHX_RUN_CLANG_TIDY} -quiet -p ${PROJECT_BINARY_DIR} -extra-arg=-DASIO_HAS_CO_AWAIT=1
            "^${PROJECT_SOURCE_DIR}/(overlay|collectives|runtime|apps)/.*\\.cc$"
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM)
endif()
