# For people who type make: everything is in ./dev.
.PHONY: all test run check bench install clean
all:
	@./dev build
test run check bench install:
	@./dev $@
clean:
	rm -rf build build-asan build-fuzz build-release
