

# `boot.py` calls it after the code.
def __at_end__():
    import sys

    plot = sys.modules.get("matplotlib.pyplot")
    for number in plot.get_fignums() if plot else ():
        plot.figure(number).savefig("figure_%d.png" % number)


import warnings

# `plt.show()` has nothing to show on.
warnings.filterwarnings("ignore", message=".*non-interactive.*")
del warnings
