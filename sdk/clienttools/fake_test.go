package clienttools_test

func fakeServer(string) int { return 0 }
