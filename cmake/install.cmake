# the installed package
